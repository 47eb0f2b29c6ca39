import { area } from "../area.tsx";
import { access } from "../en/access.ts";

export const { t, Rich } = area("access", access);
