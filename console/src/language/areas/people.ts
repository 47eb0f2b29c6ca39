import { area } from "../area.tsx";
import { people } from "../en/people.ts";

export const { t, Rich } = area("people", people);
