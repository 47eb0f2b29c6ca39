import { tooLargeBodies } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

tooLargeBodies(transcriptionsEndpoint);
