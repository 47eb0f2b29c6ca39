import { area } from "../area.tsx";
import { problems } from "../en/problems.ts";

export const { t, Rich } = area("problems", problems);
