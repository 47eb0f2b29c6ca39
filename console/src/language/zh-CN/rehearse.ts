import type { rehearse as english } from "../en/rehearse.ts";
import type { Translation } from "../texts.ts";

export const rehearse: Translation<typeof english> = { button: "预演", list: "预演记录" };
