import { area } from "../area.tsx";
import { scim } from "../en/scim.ts";

export const { t, Rich } = area("scim", scim);
