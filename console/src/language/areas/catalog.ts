import { area } from "../area.tsx";
import { catalog } from "../en/catalog.ts";

export const { t, Rich } = area("catalog", catalog);
