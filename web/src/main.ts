// What scripts add to web pages. Every page is whole without them: they add ways to use it, and no fact.

import { addCopyButtons } from "./copy_button";
import { addVersionFilter } from "./version_filter";
import { listenForKeys } from "./keys";
import { moveInTables } from "./rows";

addCopyButtons();
addVersionFilter();
moveInTables();
listenForKeys();
