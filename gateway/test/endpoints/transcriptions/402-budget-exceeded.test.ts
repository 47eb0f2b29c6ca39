import { budgets } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

budgets(transcriptionsEndpoint);
