import { area } from "../area.tsx";
import { bill } from "../en/bill.ts";

export const { t, Rich } = area("bill", bill);
