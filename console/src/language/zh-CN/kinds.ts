import type { Translation } from "../catalogue.ts";
import type { kinds as english } from "../en/kinds.ts";

export const kinds: Translation<typeof english> = {};
