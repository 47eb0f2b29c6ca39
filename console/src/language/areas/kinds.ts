import { area } from "../area.tsx";
import { kinds } from "../en/kinds.ts";

export const { t, Rich } = area("kinds", kinds);
