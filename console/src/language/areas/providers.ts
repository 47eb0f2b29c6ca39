import { area } from "../area.tsx";
import { providers } from "../en/providers.ts";

export const { t, Rich } = area("providers", providers);
