import { area } from "../area.tsx";
import { keys } from "../en/keys.ts";

export const { t, Rich } = area("keys", keys);
