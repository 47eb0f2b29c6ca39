import { timeouts } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

timeouts(transcriptionsEndpoint);
