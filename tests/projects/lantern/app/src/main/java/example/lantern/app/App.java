package example.lantern.app;

import example.lantern.Lantern;
import java.io.IOException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** Tells it as a table. */
public final class App {
    private App() {}

    public static void main(String[] arguments) throws IOException {
        System.out.print(table());
    }

    static String table() throws IOException {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter printer = new CSVPrinter(text, CSVFormat.DEFAULT)) {
            printer.printRecord("app", Lantern.light());
        }
        return text.toString();
    }
}
