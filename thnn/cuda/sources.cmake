# What libTHCUNN is made of; the emulation in tests/cuda compiles the same files.

set(THCUNN_SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Untemplated.
set(THCUNN_COMMON_SOURCES THC/THCState.cpp THC/THCPlan.cpp THC/THCBlas.cpp THC/THCStrided.cu
                          THC/THCIndex.cu THC/THCSort.cu)

# Compiled once per element type: float, double, long, int.
set(THCUNN_ELEMENT_SOURCES THC/generic/THCStorage.cpp THC/generic/THCTensor.cu)

# One file per module, and what several modules share; compiled once per real type.
set(THCUNN_MODULE_SOURCES
    generic/Abs.cu
    generic/AbsCriterion.cu
    generic/BCECriterion.cu
    generic/BatchNormalization.cu
    generic/ClassNLLCriterion.cu
    generic/Convolution.cu
    generic/DistKLDivCriterion.cu
    generic/ELU.cu
    generic/FeatureLPPooling.cu
    generic/GRUFused.cu
    generic/GatedLinear.cu
    generic/HardShrink.cu
    generic/HardTanh.cu
    generic/IndexLinear.cu
    generic/L1Cost.cu
    generic/LSTMFused.cu
    generic/LeakyReLU.cu
    generic/Linear.cu
    generic/LogSigmoid.cu
    generic/LogSoftMax.cu
    generic/LookupTable.cu
    generic/LookupTableBag.cu
    generic/MSECriterion.cu
    generic/MarginCriterion.cu
    generic/MultiLabelMarginCriterion.cu
    generic/MultiMarginCriterion.cu
    generic/PReLU.cu
    generic/RReLU.cu
    generic/Sigmoid.cu
    generic/SmoothL1Criterion.cu
    generic/SoftMarginCriterion.cu
    generic/SoftMax.cu
    generic/SoftPlus.cu
    generic/SoftShrink.cu
    generic/SparseLinear.cu
    generic/SpatialAdaptiveAveragePooling.cu
    generic/SpatialAdaptiveMaxPooling.cu
    generic/SpatialAveragePooling.cu
    generic/SpatialClassNLLCriterion.cu
    generic/SpatialConvolutionLocal.cu
    generic/SpatialConvolutionMM.cu
    generic/SpatialConvolutionMap.cu
    generic/SpatialCrossMapLRN.cu
    generic/SpatialDepthWiseConvolution.cu
    generic/SpatialDilatedConvolution.cu
    generic/SpatialDilatedMaxPooling.cu
    generic/SpatialFractionalMaxPooling.cu
    generic/SpatialFullConvolution.cu
    generic/SpatialFullConvolutionMap.cu
    generic/SpatialFullDilatedConvolution.cu
    generic/SpatialGridSamplerBilinear.cu
    generic/SpatialMaxPooling.cu
    generic/SpatialMaxUnpooling.cu
    generic/SpatialReflectionPadding.cu
    generic/SpatialReplicationPadding.cu
    generic/SpatialSubSampling.cu
    generic/SpatialUpSamplingBilinear.cu
    generic/SpatialUpSamplingNearest.cu
    generic/Sqrt.cu
    generic/Square.cu
    generic/Tanh.cu
    generic/TemporalConvolution.cu
    generic/TemporalMaxPooling.cu
    generic/TemporalRowConvolution.cu
    generic/TemporalSubSampling.cu
    generic/Threshold.cu
    generic/VolumetricAveragePooling.cu
    generic/VolumetricConvolution.cu
    generic/VolumetricConvolutionMM.cu
    generic/VolumetricDilatedConvolution.cu
    generic/VolumetricDilatedMaxPooling.cu
    generic/VolumetricFractionalMaxPooling.cu
    generic/VolumetricFullConvolution.cu
    generic/VolumetricFullDilatedConvolution.cu
    generic/VolumetricMaxPooling.cu
    generic/VolumetricMaxUnpooling.cu
    generic/VolumetricReplicationPadding.cu
    generic/VolumetricUpSamplingNearest.cu
    generic/VolumetricUpSamplingTrilinear.cu
    generic/averagePooling.cu
    generic/convolutionModule.cu
    generic/fractionalPooling.cu
    generic/linearSampling.cu
    generic/maxPooling.cu
    generic/maxUnpooling.cu
    generic/nearestSampling.cu
    generic/padding.cu
    generic/planeConvolution.cu
    generic/subSampling.cu
    generic/unfold.cu)

set(THCUNN_REAL_TYPES CUDA CUDADOUBLE)
set(THCUNN_ELEMENT_TYPES CUDA CUDADOUBLE CUDALONG CUDAINT)

list(TRANSFORM THCUNN_COMMON_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")
list(TRANSFORM THCUNN_ELEMENT_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")
list(TRANSFORM THCUNN_MODULE_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")

# thcunn_add_objects(prefix configure): the object libraries prefix_common, prefix_<type> and
# prefix_elements_<type>, each given to the function `configure`; THCUNN_OBJECTS lists their objects.
function(thcunn_add_objects prefix configure)
  set(objects)
  add_library(${prefix}_common OBJECT ${THCUNN_COMMON_SOURCES})
  list(APPEND objects ${prefix}_common)
  foreach(type IN LISTS THCUNN_ELEMENT_TYPES)
    add_library(${prefix}_elements_${type} OBJECT ${THCUNN_ELEMENT_SOURCES})
    target_compile_definitions(${prefix}_elements_${type} PRIVATE THC_TYPE_${type})
    list(APPEND objects ${prefix}_elements_${type})
  endforeach()
  foreach(type IN LISTS THCUNN_REAL_TYPES)
    add_library(${prefix}_${type} OBJECT ${THCUNN_MODULE_SOURCES})
    target_compile_definitions(${prefix}_${type} PRIVATE THC_TYPE_${type})
    list(APPEND objects ${prefix}_${type})
  endforeach()
  set(expressions)
  foreach(target IN LISTS objects)
    cmake_language(CALL ${configure} ${target})
    list(APPEND expressions $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(THCUNN_OBJECTS "${expressions}" PARENT_SCOPE)
endfunction()
