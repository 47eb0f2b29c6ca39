import { area } from "../area.tsx";
import { playground } from "../en/playground.ts";

export const { t, Rich } = area("playground", playground);
