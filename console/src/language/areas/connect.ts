import { area } from "../area.tsx";
import { connect } from "../en/connect.ts";

export const { t, Rich } = area("connect", connect);
