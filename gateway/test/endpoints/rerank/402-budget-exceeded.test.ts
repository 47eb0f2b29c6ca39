import { budgets } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

budgets(rerankEndpoint);
