import { credentials } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

credentials(transcriptionsEndpoint);
