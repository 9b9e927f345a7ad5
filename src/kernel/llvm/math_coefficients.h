#pragma once

// Written by tools/fit_functions.py: coefficients, lowest first, and the largest relative error of each fit.
namespace ingot::kernel {

// (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2; within 3.1e-09.
inline constexpr double kExp[] = {0.4999999341251, 0.1666652010631, 0.04166839421067, 0.008368780551215,
                                  0.001381446705085};
// (log(1 + u) - u + u^2 / 2) / u^3 on sqrt(1/2) <= 1 + u <= sqrt(2); within 7.5e-10.
inline constexpr double kLog[] = {0.333333126127,   -0.2500000959409, 0.2000211818209,
                                  -0.1666799574383, 0.1421956057426,  -0.1240559600177,
                                  0.1188811527495,  -0.1167559225655, 0.06746664198307};
// log(1 + e) / e on 0 <= e <= 1; within 4.7e-09.
inline constexpr double kLog1p[] = {0.9999999952869,  -0.4999990241718,  0.3332996226796, -0.2495413213558,
                                    0.196759314638,   -0.1530557011845,  0.1060361687272, -0.05695915909763,
                                    0.01985126263531, -0.003243980863713};
// tanh(x) / x in x^2 on |x| <= 9.02, numerator; within 3.0e-08.
inline constexpr double kTanhTop[] = {1.283919334412, 0.1717848777771, 0.004486066754907, 2.642761501193e-05,
                                      1.710064445604e-08};
// its denominator; within 3.0e-08.
inline constexpr double kTanhBottom[] = {1.283919334412, 0.5997577905655, 0.03321640565991,
                                         0.0004215237859171, 9.965837080017e-07};
// erf(x) / x in x^2 on |x| <= 3.93, numerator; within 2.2e-08.
inline constexpr double kErfTop[] = {2.251269340515,    0.3806297779083,    0.1053221821785,
                                     0.007540324237198, 0.0005682056071237, 4.073894160683e-06};
// its denominator; within 2.2e-08.
inline constexpr double kErfBottom[] = {1.995135545731,   1.002368330956,    0.2279549092054,
                                        0.02992092259228, 0.002324606059119, 7.582072430523e-05};
// exp(a^2 / 2) * erfc(a / sqrt(2)) / 2 on 0 <= a <= 13.5, numerator; within 8.5e-09.
inline constexpr double kGeluTailTop[] = {0.5553171634674, 0.4844102263451, 0.2017503380775, 0.04453703761101,
                                          0.004484025761485};
// its denominator; within 8.5e-09.
inline constexpr double kGeluTailBottom[] = {1.110634326935,  1.85497879982,   1.328237771988,
                                             0.5167723894119, 0.1116457954049, 0.01123963203281};
// (sin(x) - x) / x^3 in x^2 on |x| <= pi / 4; within 3.6e-09.
inline constexpr double kSin[] = {-0.1666665487912, 0.008332173804936, -0.0001951668410879};
// (cos(x) - 1 + x^2 / 2) / x^4 in x^2 on |x| <= pi / 4; within 9.7e-11.
inline constexpr double kCos[] = {0.04166664677238, -0.001388736245531, 2.443782956638e-05};
// (asin(x) - x) / x^3 in x^2 on |x| <= 1/2; within 5.0e-09.
inline constexpr double kAsin[] = {0.1666675380955, 0.07495242925259, 0.04547725302246, 0.02414572991473,
                                   0.04222327500937};
// (atan(x) - x) / x^3 in x^2 on |x| <= 1; within 1.5e-08.
inline constexpr double kAtan[] = {-0.3333316726313,  0.1999414250642,  -0.1421424276682,  0.1067904211717,
                                   -0.07580738811175, 0.04355483999165, -0.01658164751675, 0.002974627819346};
// (atanh(x) - x) / x^3 in x^2 on |x| <= 3 - sqrt(8); within 4.8e-12.
inline constexpr double kAtanh[] = {0.3333333282065, 0.2000016810953, 0.142686191683, 0.1179178432171};
// 2^f on |f| <= 1/2; within 1.9e-09.
inline constexpr double kExp2[] = {1.000000000555,    0.6931472057671,   0.2402264688592,   0.05550328711915,
                                   0.009618489261222, 0.001339995759201, 0.0001534578445038};

}  // namespace ingot::kernel
