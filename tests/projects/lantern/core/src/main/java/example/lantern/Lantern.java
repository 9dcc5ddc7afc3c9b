package example.lantern;

import org.apache.commons.lang3.StringUtils;

/** Tells which version of itself it is. */
public final class Lantern {
    private Lantern() {}

    public static String light() {
        return StringUtils.capitalize("lantern @version@ is lit, build @build@");
    }
}
