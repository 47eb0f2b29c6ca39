import { z } from "zod";
import { modelTypes } from "./model-endpoints.ts";

/** Separate from the table of endpoints, because console pages read that table and must not load zod with it. */
export const modelTypeSchema = z.enum(modelTypes);
