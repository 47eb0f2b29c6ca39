import { area } from "../area.tsx";
import { guardrails } from "../en/guardrails.ts";

export const { t, Rich } = area("guardrails", guardrails);
