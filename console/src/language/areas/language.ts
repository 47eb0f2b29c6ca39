import { area } from "../area.tsx";
import { language } from "../en/language.ts";

export const { t, Rich } = area("language", language);
