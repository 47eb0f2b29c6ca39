import { area } from "../area.tsx";
import { snippets } from "../en/snippets.ts";

export const { t, Rich } = area("snippets", snippets);
