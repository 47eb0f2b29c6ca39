import { z } from "zod";
import { modelTypes } from "./model-endpoints.ts";

/** Apart from the table of endpoints, which pages of the console read that check nothing. */
export const modelTypeSchema = z.enum(modelTypes);
