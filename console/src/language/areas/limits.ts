import { area } from "../area.tsx";
import { limits } from "../en/limits.ts";

export const { t, Rich } = area("limits", limits);
