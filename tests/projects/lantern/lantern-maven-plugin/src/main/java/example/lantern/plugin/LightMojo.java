package example.lantern.plugin;

import example.lantern.Lantern;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugins.annotations.Mojo;

/** Lights it: {@code mvn lantern:light}. */
@Mojo(name = "light", requiresProject = false)
public final class LightMojo extends AbstractMojo {
    @Override
    public void execute() {
        getLog().info(Lantern.light());
    }
}
