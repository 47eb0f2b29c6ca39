import { area } from "../area.tsx";
import { requests } from "../en/requests.ts";

export const { t, Rich } = area("requests", requests);
