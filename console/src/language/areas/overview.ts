import { area } from "../area.tsx";
import { overview } from "../en/overview.ts";

export const { t, Rich } = area("overview", overview);
