import { area } from "../area.tsx";
import { rehearse } from "../en/rehearse.ts";

export const { t } = area("rehearse", rehearse);
