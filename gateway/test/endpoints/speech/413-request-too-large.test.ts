import { tooLargeBodies } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

tooLargeBodies(speechEndpoint);
