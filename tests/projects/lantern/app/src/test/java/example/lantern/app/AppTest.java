package example.lantern.app;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import org.junit.Test;

public class AppTest {
    @Test
    public void itTells() throws IOException {
        assertEquals("app,\"Lantern @version@ is lit, build @build@\"\r\n", App.table());
    }
}
