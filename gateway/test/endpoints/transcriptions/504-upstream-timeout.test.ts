import { timeouts } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

timeouts(transcriptionsEndpoint);
