import { area } from "../area.tsx";
import { signIn } from "../en/sign-in.ts";

export const { t, Rich } = area("signIn", signIn);
