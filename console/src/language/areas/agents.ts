import { area } from "../area.tsx";
import { agents } from "../en/agents.ts";

export const { t } = area("agents", agents);
