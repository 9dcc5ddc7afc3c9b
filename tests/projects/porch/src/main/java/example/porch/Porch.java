package example.porch;

import example.lantern.Lantern;

/** Is lit by a lantern that was deployed before. */
public final class Porch {
    private Porch() {}

    public static void main(String[] arguments) {
        System.out.println(Lantern.light());
    }
}
