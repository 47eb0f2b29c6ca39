import { area } from "../area.tsx";
import { device } from "../en/device.ts";

export const { t } = area("device", device);
