import { budgets } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

budgets(rerankEndpoint);
