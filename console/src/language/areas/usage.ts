import { area } from "../area.tsx";
import { usage } from "../en/usage.ts";

export const { t, Rich } = area("usage", usage);
