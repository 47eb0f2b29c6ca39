import { createMemoryCounter } from "#coordination/index.ts";
import { counterSuite } from "./counter-suite.ts";

counterSuite("memory", (clock) => createMemoryCounter({ clock }));
