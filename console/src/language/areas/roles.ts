import { area } from "../area.tsx";
import { roles } from "../en/roles.ts";

export const { t, Rich } = area("roles", roles);
