import { area } from "../area.tsx";
import { files } from "../en/files.ts";

export const { t } = area("files", files);
