import { area } from "../area.tsx";
import { audit } from "../en/audit.ts";

export const { t, Rich } = area("audit", audit);
