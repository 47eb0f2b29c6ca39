import { area } from "../area.tsx";
import { formats } from "../en/formats.ts";

export const { t, Rich } = area("formats", formats);
