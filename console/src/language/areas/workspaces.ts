import { area } from "../area.tsx";
import { workspaces } from "../en/workspaces.ts";

export const { t, Rich } = area("workspaces", workspaces);
