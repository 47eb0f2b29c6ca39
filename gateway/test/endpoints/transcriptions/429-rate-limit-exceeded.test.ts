import { rates } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

rates(transcriptionsEndpoint);
