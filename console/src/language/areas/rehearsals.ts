import { area } from "../area.tsx";
import { rehearsals } from "../en/rehearsals.ts";

export const { t } = area("rehearsals", rehearsals);
