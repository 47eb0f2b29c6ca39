import { area } from "../area.tsx";
import { batches } from "../en/batches.ts";

export const { t, Rich } = area("batches", batches);
