import { unavailable } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

unavailable(transcriptionsEndpoint);
