import { area } from "../area.tsx";
import { attention } from "../en/attention.ts";

export const { t, Rich } = area("attention", attention);
