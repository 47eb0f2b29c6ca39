import { budgets } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

budgets(transcriptionsEndpoint);
