import type { Translation } from "../catalogue.ts";
import type { roles as english } from "../en/roles.ts";

export const roles: Translation<typeof english> = {};
