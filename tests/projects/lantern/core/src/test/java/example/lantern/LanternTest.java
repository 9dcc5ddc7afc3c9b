package example.lantern;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class LanternTest {
    @Test
    public void itIsLit() {
        assertEquals("Lantern @version@ is lit, build @build@", Lantern.light());
    }
}
