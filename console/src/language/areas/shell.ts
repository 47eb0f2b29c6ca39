import { area } from "../area.tsx";
import { shell } from "../en/shell.ts";

export const { t, Rich } = area("shell", shell);
